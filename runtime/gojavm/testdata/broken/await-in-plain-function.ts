const ids = ['a', 'b'];
const rows = ids.map(id => {
  return await tools.get_order({ id });
});
return rows;
