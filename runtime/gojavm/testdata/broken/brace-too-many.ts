const rows = await tools.list_orders({ customer: 'c9' });
for (const row of rows) {
  console.log(row.id);
}}
return rows.length;
