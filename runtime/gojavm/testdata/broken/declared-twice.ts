const rows = [1];
const total = rows.length;
const rows = [2];
return total;
