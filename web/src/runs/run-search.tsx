import { SearchInput } from "@/components/ui/input";
import { useTyped } from "@/lib/typed";

/** Looks for runs by what they were called with. Asks when typing pauses. */
export function RunSearch({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const [typed, setTyped] = useTyped(text, onChange);
  return (
    <SearchInput
      label="Search the inputs"
      placeholder="Search the inputs"
      maxLength={200}
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
      className="w-full sm:max-w-[320px]"
    />
  );
}
