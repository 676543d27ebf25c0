/** What is probed, in a process of its own so that nothing delays its clock: answers 200 and notes when it was asked. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { wallMs } from "./figures.ts";

const arrivals = new Map<string, number[]>();
const server = createServer((request, response) => {
  const path = request.url ?? "";
  const known = arrivals.get(path);
  if (known === undefined) arrivals.set(path, [wallMs()]);
  else known.push(wallMs());
  response.end("ok");
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("message", () => {
  process.send?.([...arrivals]);
  arrivals.clear();
});
