const rows = await tools.list_orders({ customer: 'c9' });
for (const row of rows) {
  if (row.open) {
    console.log(row.id);
}
return rows.length;
