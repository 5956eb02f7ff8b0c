const root: any = { name: 'root', children: [] };
root.children.push({ name: 'leaf', parent: root });
return root;
