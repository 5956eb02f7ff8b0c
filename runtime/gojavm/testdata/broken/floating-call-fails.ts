tools.get_order({ id: 'o404' });
return 'sent';
