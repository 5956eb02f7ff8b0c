return await tools.get_order('o1');
