const { hits } = tools.search({ text: 'tea' });
return hits.filter(h => h.open);
