const orders = await tools.list_orders({ customer: 'c9' });
return { list: orders.map(o => ({ id: o.id, tax: o.tax * 2 })) };
