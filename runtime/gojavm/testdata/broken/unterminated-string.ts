const text = 'first line
second line';
return text;
