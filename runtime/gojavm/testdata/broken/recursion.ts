const depth = (n: number): number => 1 + depth(n + 1);
return depth(0);
