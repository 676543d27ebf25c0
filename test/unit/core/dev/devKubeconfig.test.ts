import { expect, it } from "vitest";
import { devKubeconfig } from "../../../../src/core/dev/devKubeconfig.ts";
import { decodeKubeconfig } from "../../../../src/core/api/kubeconfig.ts";
import { parse } from "yaml";

it("leads kubectl to the server, with its authority and the client's certificate", () => {
  const text = devKubeconfig("https://127.0.0.1:4000", "CA\n", { certificate: "CERT\n", key: "KEY\n" });
  const decoded = decodeKubeconfig(parse(text), (path) => path);
  expect(decoded).toMatchObject({
    ok: true,
    value: {
      server: "https://127.0.0.1:4000",
      certificateAuthority: { source: { text: "CA\n" } },
      certificate: { certificate: { source: { text: "CERT\n" } }, key: { source: { text: "KEY\n" } } },
      proof: { kind: "none" },
    },
  });
  expect(parse(text)).toMatchObject({ contexts: [{ context: { namespace: "default" } }] });
});
