import { expect, it } from "vitest";
import { createFifo } from "../../../src/operators/fifo.ts";
import { expectLinear } from "../../support/expectLinear.ts";

it("returns values in the order of their arrival, undefined among them", () => {
  const fifo = createFifo<string | undefined>();
  for (const value of ["a", undefined, "b"]) fifo.push(value);
  expect([fifo.size, fifo.shift(), fifo.shift(), fifo.shift(), fifo.size]).toEqual([3, "a", undefined, "b", 0]);
});

it("has nothing to return when it is empty, and takes values again afterwards", () => {
  const fifo = createFifo<string>();
  expect([fifo.shift(), fifo.size]).toEqual([undefined, 0]);
  fifo.push("a");
  expect([fifo.shift(), fifo.shift(), fifo.size]).toEqual(["a", undefined, 0]);
  fifo.push("b");
  fifo.push("c");
  expect([fifo.size, fifo.shift(), fifo.shift(), fifo.size]).toEqual([2, "b", "c", 0]);
});

it("takes time in proportion to its values", () => {
  expectLinear(
    (count) => Array.from({ length: count }, (_, index) => index),
    (values) => {
      const fifo = createFifo<number>();
      for (const value of values) fifo.push(value);
      while (fifo.size > 0) fifo.shift();
    },
  );
});
