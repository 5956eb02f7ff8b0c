namespace Money {
  export const add = (a: number, b: number) => a + b;
}
return Money.add(1, 2);
