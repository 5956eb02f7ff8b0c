const rows = await tools.list_orders({ customer: 'c9' };
return rows.length;
