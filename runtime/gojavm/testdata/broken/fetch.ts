const r = await fetch('https://example.com/orders');
return await r.json();
