const ids = ['o1', 'o404'];
const orders = [];
for (const id of ids) {
  orders.push(await tools.get_order({ id }));
}
return orders;
