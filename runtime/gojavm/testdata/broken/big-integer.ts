const { id } = await tools.big_id({});
return id + 1;
