return await tools.run_code({ code: 'return 1', description: 'nested' });
