const fs = require('fs');
return fs.readFileSync('a.txt', 'utf8');
