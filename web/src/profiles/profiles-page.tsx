import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Plus, SlidersHorizontal } from "lucide-react";

import { Button } from "@/components/ui/button";
import { Held } from "@/components/ui/document-drawer";
import { Listing, nameColumn, rowNameLook, wideOnly } from "@/components/ui/listing";
import { PageHeader } from "@/components/ui/page-header";
import { ApprovalBadge } from "@/components/ui/state-badges";
import { EmptyState } from "@/components/ui/states";
import type { Column } from "@/components/ui/table";
import { boundsWords } from "@/limits/bounds";
import { clipped } from "@/lib/visible";

import { ProfileDrawer } from "./profile-drawer";
import { type Profile, profileQuery, profilesQuery } from "./queries";

const route = getRouteApi("/shell/profiles");

const columns: Column<Profile>[] = [
  {
    key: "name",
    className: nameColumn,
    title: "Profile",
    sort: (profile) => profile.name,
    cell: (profile) => (
      <>
        <Link to="/profiles" search={{ id: profile.name }} className={rowNameLook}>
          {profile.name}
        </Link>
        {profile.description ? <span className="block text-xs text-ink-3">{clipped(profile.description, 80)}</span> : null}
      </>
    ),
  },
  { key: "asks", title: "Asks", cell: (profile) => (profile.approval === "always_ask" ? <ApprovalBadge /> : <span className="text-ink-3">As policy says</span>) },
  { key: "most", title: "At most", cell: (profile) => boundsWords(profile) },
  { key: "input", className: wideOnly, title: "Input", cell: (profile) => (profile.arguments ? "Bounded" : <span className="text-ink-3">As the tool takes it</span>) },
];

/** What holds for agents’ use of the tools they were given. */
export function ProfilesPage() {
  const { id, add } = route.useSearch();
  const navigate = route.useNavigate();
  const profiles = useInfiniteQuery(profilesQuery);
  const close = () => void navigate({ search: {} });
  return (
    <>
      <PageHeader
        title="Profiles"
        description="What holds on top of everything else when an agent uses tools it was given. A profile can only make things stricter."
        action={
          <Button look="primary" onClick={() => void navigate({ search: { add: true } })}>
            <Plus aria-hidden />
            New profile
          </Button>
        }
      />
      <Listing
        label="Profiles"
        what="the profiles"
        list={profiles}
        rows={profiles.data?.pages.flatMap((page) => page.profiles) ?? []}
        columns={columns}
        rowKey={(profile) => profile.name}
        empty={
          <EmptyState icon={SlidersHorizontal} title="No profile yet">
            Write one, such as “careful”: every call asks, ten a minute. Then name it where tools are given to agents.
          </EmptyState>
        }
      />
      {add ? <ProfileDrawer profile={null} onClose={close} /> : null}
      {id ? (
        <Held key={id} query={profileQuery(id) as never} title={id} what="the profile" onClose={close}>
          {(profile: Profile, again) => <ProfileDrawer profile={profile} onClose={close} again={again} />}
        </Held>
      ) : null}
    </>
  );
}
