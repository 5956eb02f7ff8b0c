const page = await tools.search({ text: 'tea' });
return page.map(hit => hit.id);
