const ids = ['o1', 'o2'];
const orders = ids.map(async id => tools.get_order({ id }));
return orders.map(o => o.id.toUpperCase());
