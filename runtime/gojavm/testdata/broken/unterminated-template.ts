const text = `first line
return text;
