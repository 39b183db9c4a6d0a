import { ChevronsUpDown, X } from "lucide-react";
import { Popover } from "radix-ui";
import { type KeyboardEvent, useRef, useState } from "react";

import { Button } from "@/components/ui/button";
import { controlLook } from "@/components/ui/input";
import { cn } from "@/lib/cn";
import { clipped } from "@/lib/visible";

import { EntityList } from "./entity-list";
import { type Entity, useEntityNames } from "./queries";

/** The longest name that is drawn. */
const LONGEST = 120;

type Aria = { "aria-invalid"?: boolean; "aria-describedby"?: string; "aria-required"?: boolean };

/**
 * Chooses one of many by name and keeps its id, or several of them as chips. Opens by a click, Enter, an arrow, or by
 * typing; what is typed is looked for.
 */
export function EntityPicker({ id, type, label, value, onChange, several, required, disabled, readOnly, ...aria }: {
  id: string;
  /** Which type of entity, as `x-entity-type` names it. */
  type: string;
  /** What is chosen, for those who can't see the label above. */
  label: string;
  value: readonly string[];
  onChange: (ids: string[]) => void;
  several?: boolean;
  required?: boolean;
  disabled?: boolean;
  readOnly?: boolean;
} & Aria) {
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const button = useRef<HTMLButtonElement>(null);
  const { named, missing, learn } = useEntityNames(type, value);
  const fixed = disabled || readOnly;
  const change = (next: boolean) => {
    if (next && fixed) return;
    setOpen(next);
    if (!next) setTyped("");
  };
  const choose = (entity: Entity) => {
    learn(entity);
    if (!several) {
      onChange([entity.id]);
      change(false);
    } else onChange(value.includes(entity.id) ? value.filter((one) => one !== entity.id) : [...value, entity.id]);
  };
  const remove = (one: string) => {
    onChange(value.filter((other) => other !== one));
    // What was clicked is gone; whoever goes on by keyboard goes on here.
    button.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (fixed || open || event.ctrlKey || event.metaKey || event.altKey) return;
    // Letters are looked for, and are no shortcuts of the page around.
    if (event.key.length === 1 && event.key !== " ") {
      event.preventDefault();
      event.stopPropagation();
      setTyped(event.key);
      setOpen(true);
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      setOpen(true);
    } else if ((event.key === "Backspace" || event.key === "Delete") && value.length > 0 && !(required && !several)) {
      event.preventDefault();
      onChange(value.slice(0, -1));
    }
  };
  const one = several ? undefined : value[0];
  return (
    // A long name is cut; it never makes the form wider.
    <div className="grid grid-cols-1">
      {several && value.length > 0 ? (
        <ul aria-label={`Chosen for ${label}`} className="mb-2 flex flex-wrap gap-1.5">
          {value.map((chosen, index) => (
            <Chip
              key={`${index} ${chosen}`}
              id={`${id}_${index}`}
              entity={chosen}
              named={named.get(chosen)}
              gone={missing.includes(chosen)}
              onRemove={fixed ? undefined : () => remove(chosen)}
            />
          ))}
        </ul>
      ) : null}
      <Popover.Root open={open} onOpenChange={change} modal>
        <div className="relative">
          <Popover.Trigger asChild>
            <button
              ref={button}
              id={id}
              type="button"
              role="combobox"
              aria-readonly={readOnly || undefined}
              disabled={disabled}
              onKeyDown={onKeyDown}
              className={cn(controlLook, "flex h-9 items-center gap-2 text-left", one !== undefined && !fixed ? "pr-16" : "pr-9", readOnly && "bg-sunken")}
              {...aria}
            >
              {one === undefined ? (
                <span className="text-ink-3">{several ? "Add…" : "Choose…"}</span>
              ) : (
                <Name entity={one} named={named.get(one)} gone={missing.includes(one)} />
              )}
              <ChevronsUpDown aria-hidden className="absolute right-3 size-4 text-ink-3" />
            </button>
          </Popover.Trigger>
          {one !== undefined && !fixed ? (
            <Button look="quiet" className="absolute right-8 top-1 size-7 px-0 text-ink-3" aria-label={`Clear ${label}`} onClick={() => remove(one)}>
              <X aria-hidden />
            </Button>
          ) : null}
        </div>
        <Popover.Portal>
          <Popover.Content
            align="start"
            sideOffset={4}
            collisionPadding={8}
            aria-label={`Choose ${label}`}
            // What is typed or chosen in here is no business of the page around.
            onKeyDown={(event) => event.stopPropagation()}
            className="z-50 w-(--radix-popover-trigger-width) min-w-72 max-w-[calc(100vw-16px)] overflow-hidden rounded-xl border border-line bg-surface shadow-pop"
          >
            <EntityList type={type} label={label} text={typed} onText={setTyped} chosen={value} several={several ?? false} onChoose={choose} />
          </Popover.Content>
        </Popover.Portal>
      </Popover.Root>
    </div>
  );
}

function Chip({ id, entity, named, gone, onRemove }: { id: string; entity: string; named: Entity | undefined; gone: boolean; onRemove?: () => void }) {
  return (
    <li className={cn("inline-flex h-7 max-w-full items-center gap-1 rounded-md border border-line bg-sunken pl-2 text-sm", onRemove ? "pr-0.5" : "pr-2")}>
      <span className="min-w-0 truncate" title={entity}>
        {named ? clipped(named.title, LONGEST) : <span className="font-mono text-xs">{clipped(entity, LONGEST)}</span>}
        {gone ? <span className="ml-1.5 text-xs text-warn-ink">not found</span> : null}
      </span>
      {onRemove ? (
        <Button
          id={id}
          look="quiet"
          className="size-6 px-0 text-ink-3 [&_svg]:size-3.5"
          aria-label={`Remove ${clipped(named?.title ?? entity, LONGEST)}`}
          onClick={onRemove}
        >
          <X aria-hidden />
        </Button>
      ) : null}
    </li>
  );
}

/** A name with its id beside it: two people may have the same name. */
function Name({ entity, named, gone }: { entity: string; named: Entity | undefined; gone: boolean }) {
  return (
    <>
      {named ? <span className="min-w-0 truncate">{clipped(named.title, LONGEST)}</span> : null}
      <span className={cn("min-w-0 flex-1 truncate font-mono text-xs", named && "text-ink-3")}>{clipped(entity, LONGEST)}</span>
      {gone ? <span className="shrink-0 text-xs text-warn-ink">not found</span> : null}
    </>
  );
}
