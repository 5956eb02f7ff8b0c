const byId = new Map((await tools.list_orders({ customer: 'c9' })).map(o => [o.id, o]));
return { count: byId.size, byId };
