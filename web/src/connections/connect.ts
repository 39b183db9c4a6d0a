import { useMutation } from "@tanstack/react-query";

import { api, unwrap } from "@/api/client";

/** Begins a login at a service: the browser goes there and comes back connected. */
export function useConnect() {
  return useMutation({
    mutationFn: ({ service, shared }: { service: string; shared: boolean }) =>
      unwrap(api.POST("/api/v1/connections/{service}/connect", { params: { path: { service } }, body: { shared } })),
    onSuccess: ({ authorize_url }) => {
      const address = new URL(authorize_url);
      // It comes from the gate; still nothing but a web address is ever followed.
      if (address.protocol === "https:" || address.protocol === "http:") window.location.assign(address.href);
    },
  });
}
