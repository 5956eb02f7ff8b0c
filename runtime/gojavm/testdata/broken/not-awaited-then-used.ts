const orders = tools.list_orders({ customer: 'c9' });
return orders.filter(o => o.open);
