const order = await tools.get_order({ id: 17 });
return order;
