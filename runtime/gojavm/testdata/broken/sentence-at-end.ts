const orders = await tools.list_orders({ customer: 'c9' });
return orders.length;

This returns how many orders there are.
