/** The probed HTTP server: answers 200 and records the time of each request. A process of its own keeps its clock undelayed. */
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
