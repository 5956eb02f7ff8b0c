const orders = await tools.list_orders({ customer: 'c9' });
return orders.filter(o =&gt; o.total &gt; 10);
