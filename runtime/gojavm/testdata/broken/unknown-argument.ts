const orders = await tools.list_orders({ customer: 'c9', limit: 5 });
return orders.length;
