const heads = ['o1', 'o2'].map(id => tools.get_order({ id }));
return { heads };
