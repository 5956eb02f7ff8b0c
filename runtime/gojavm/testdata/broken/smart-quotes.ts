const name = “Ada”;
return name;
