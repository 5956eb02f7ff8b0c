const orders = await tools.list_orders({ customer: 'c9' });
return orders.map(o => o.id.toUppercase());
