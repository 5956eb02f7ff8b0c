async function load(id: string) {
  const order = await tools.get_order({ id });
  return order.total;
}
const totals = await Promise.all(['o1', 'o404', 'o2'].map(load));
return totals;
