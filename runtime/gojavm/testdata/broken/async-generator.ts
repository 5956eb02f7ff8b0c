async function* pages() {
  for (let page = 1; ; page++) {
    const r = await tools.search({ text: 'tea', page });
    if (page === 2) throw new Error(`page ${page} of ${r.pages} is broken`);
    yield r;
  }
}
for await (const page of pages()) console.log(page.hits.length);
