/** Kubernetes events as the kubelet records them. Reasons: see docs/operations.md. */
export interface KubeletEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  readonly object: EventObject;
}

export interface EventObject {
  readonly kind: "Pod" | "Node";
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Of the object that was told of; absent where the API server has none. */
  readonly resourceVersion?: string;
  /** `spec.containers{name}` for events of one container; empty for the whole object. */
  readonly fieldPath: string;
}
