const first = await tools.get_order({ id: 'o1' });
console.log('first', first.id);

const second = await tools
  .get_order({ id: 'o404' });
return second;
