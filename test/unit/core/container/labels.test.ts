import { describe, expect, it } from "vitest";
import {
  containerAnnotations,
  containerLabels,
  parseContainerAnnotations,
  parseSandboxLabels,
  sandboxAnnotations,
  sandboxLabels,
} from "../../../../src/core/container/labels.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const IMAGE = "registry.k8s.io/e2e-test-images/busybox:1.37.0-1";
const POD_LABELS = {
  "io.kubernetes.pod.name": "plain",
  "io.kubernetes.pod.namespace": "demo",
  "io.kubernetes.pod.uid": "uid-1",
};

describe("labels", () => {
  it("gives a sandbox the pod's labels, overridden by the kubelet's, and the pod's annotations", () => {
    const pod = podOf({ labels: { app: "x", "io.kubernetes.pod.name": "faked" }, annotations: { note: "hello" } });
    expect(sandboxLabels(pod)).toEqual({ app: "x", ...POD_LABELS });
    expect(sandboxAnnotations(pod)).toEqual({ note: "hello" });
  });

  it("gives a container only the kubelet's labels", () => {
    const labels = containerLabels(podOf({ labels: { app: "x" } }), { name: "main" });
    expect(labels).toEqual({ "io.kubernetes.container.name": "main", ...POD_LABELS });
  });

  it("recognize sandboxes that no kubelet created", () => {
    expect(parseSandboxLabels({ app: "x" })).toBeUndefined();
  });
});

describe("container annotations", () => {
  it("are upstream's for a plain container", () => {
    expect(containerAnnotations(podOf(), containerOf({ image: IMAGE }), 2)).toEqual({
      "io.kubernetes.container.hash": "a785d335",
      "io.kubernetes.container.restartCount": "2",
      "io.kubernetes.container.terminationMessagePath": "/dev/termination-log",
      "io.kubernetes.container.terminationMessagePolicy": "File",
      "io.kubernetes.pod.terminationGracePeriod": "30",
    });
  });

  it("contain preStop handler and ports with members in upstream's order, and parse back", () => {
    const container = containerOf({
      image: IMAGE,
      lifecycle: {
        preStop: { httpGet: { scheme: "HTTP", port: 80, path: "/stop", httpHeaders: [{ value: "v", name: "n" }] } },
      },
      ports: [
        { protocol: "TCP", containerPort: 8080, name: "http" },
        { hostIP: "127.0.0.1", containerPort: 53, hostPort: 5353, protocol: "UDP" },
      ],
    });
    const annotations = containerAnnotations(podOf({ deletionGracePeriodSeconds: 7 }), container, 0);
    expect(annotations).toEqual({
      "io.kubernetes.container.hash": "a785d335",
      "io.kubernetes.container.preStopHandler":
        '{"httpGet":{"path":"/stop","port":80,"scheme":"HTTP","httpHeaders":[{"name":"n","value":"v"}]}}',
      "io.kubernetes.container.ports":
        '[{"name":"http","containerPort":8080,"protocol":"TCP"},' +
        '{"hostPort":5353,"containerPort":53,"protocol":"UDP","hostIP":"127.0.0.1"}]',
      "io.kubernetes.container.restartCount": "0",
      "io.kubernetes.container.terminationMessagePath": "/dev/termination-log",
      "io.kubernetes.container.terminationMessagePolicy": "File",
      "io.kubernetes.pod.deletionGracePeriod": "7",
      "io.kubernetes.pod.terminationGracePeriod": "30",
    });
    expect(parseContainerAnnotations(annotations)).toEqual({
      specHash: "a785d335",
      restartCount: 0,
      terminationMessagePath: "/dev/termination-log",
      terminationMessagePolicy: "File",
      deletionGracePeriodSeconds: 7,
      terminationGracePeriodSeconds: 30,
      preStopHandler: container.lifecycle?.preStop,
      ports: container.ports,
    });
  });

  it.each([
    [{ exec: { command: ["sh", "-c", "sleep 1"] } }, '{"exec":{"command":["sh","-c","sleep 1"]}}'],
    [{ sleep: { seconds: 5 } }, '{"sleep":{"seconds":5}}'],
    [{ tcpSocket: { host: "h", port: "http" } }, '{"tcpSocket":{"port":"http","host":"h"}}'],
  ])("write the handler %j", (preStop, text) => {
    const annotations = containerAnnotations(podOf(), containerOf({ lifecycle: { preStop } }), 0);
    expect(annotations["io.kubernetes.container.preStopHandler"]).toBe(text);
  });

  it("count as not set when missing or malformed", () => {
    const broken = {
      "io.kubernetes.container.restartCount": "many",
      "io.kubernetes.pod.terminationGracePeriod": "1.5",
      "io.kubernetes.container.preStopHandler": "{",
      "io.kubernetes.container.ports": '"http"',
    };
    expect(parseContainerAnnotations(broken)).toEqual({
      specHash: "",
      restartCount: 0,
      terminationMessagePath: "",
      terminationMessagePolicy: "",
      deletionGracePeriodSeconds: undefined,
      terminationGracePeriodSeconds: undefined,
      preStopHandler: undefined,
      ports: [],
    });
  });
});
