import { readFile } from 'node:fs/promises';
return await readFile('a.txt', 'utf8');
