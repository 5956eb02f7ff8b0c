const orders = await tools.list_orders({ customer: 'c9' });
const names = orders.map(o => o.buyer.name);
return names;
