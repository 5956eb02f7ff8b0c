const orders = await tools.listOrder({ customer: 'c9' });
return orders.length;
