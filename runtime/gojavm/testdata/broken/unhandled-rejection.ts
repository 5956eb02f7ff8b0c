async function check(order: any) {
  if (!order.open) throw new Error(`order ${order.id} is closed`);
}
for (const order of await tools.list_orders({ customer: 'c9' })) check(order);
return 'all open';
