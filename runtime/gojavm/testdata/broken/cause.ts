try {
  await tools.get_order({ id: 'o404' });
} catch (e) {
  throw new Error('cannot report on the order', { cause: e });
}
