const order = await tools.get_order({ id: 'o2' });
if (!order.open) throw { code: 'CLOSED', id: order.id };
return order;
