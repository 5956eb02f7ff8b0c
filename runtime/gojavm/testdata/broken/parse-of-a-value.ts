const order = await tools.get_order({ id: 'o1' });
return JSON.parse(order).total;
