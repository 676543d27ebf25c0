import { expect, it, vi } from "vitest";
import { forwardingOf } from "../../../src/commands/forwarding.ts";
import { nodeHeap } from "../../../src/commands/nodeHeap.ts";

const MIB = 1_048_576;

it("collects young objects once for every 4 MiB that the clients of all servers have sent", () => {
  const collect = vi.spyOn(nodeHeap, "collectYoung").mockReturnValue();
  const config = { streamingConnectionIdleTimeout: 1_000 };
  const [first, second] = [forwardingOf(config), forwardingOf(config)];
  first.onReceived(3 * MIB);
  second.onReceived(MIB - 1);
  expect(collect).not.toHaveBeenCalled();
  first.onReceived(1);
  expect(collect).toHaveBeenCalledOnce();
  second.onReceived(4 * MIB - 1);
  expect(collect).toHaveBeenCalledOnce();
  second.onReceived(1);
  expect(collect).toHaveBeenCalledTimes(2);
  expect(first.idleTimeoutMs).toBe(1_000);
});
