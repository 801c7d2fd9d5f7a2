// A ring that the collector released empty: its agent is dead, or no process was ever seen to write it. In a directory
// whose agents have UUIDs as names, most rings become parked. A parked ring holds no descriptor, and is opened again
// only if its file changes.
//
// Thread safety: the collector's thread only.

#pragma once

#include <optional>
#include <string>

#include "ring/header_look.h"
#include "ring/ring_file.h"

namespace nixl_otel {

class ParkedRing {
 public:
  // `header`: the header at the release, which is empty(). `mayMap`: maps the header, so that looks at it need no
  // system call and can be frequent.
  ParkedRing(const std::string& path, const FileId& file, HeaderFields header, bool mayMap);

  const FileId& file() const { return file_; }
  const HeaderValues& header() const { return header_; }
  bool isMapped() const { return look_.has_value(); }
  // True if the mapped header changed. An event changes it, also one of a process that has mapped the file for long.
  // Takes about 100 ns. False without a mapping.
  bool hasNewHeader() const;
  // True if the header, the ctime or the size of the file changed, or if the path has another file. A ctime that
  // changed because another consumer has allocated the ring's pages is no change: noted, and false. Takes a system
  // call; without a mapping five. The ctime alone is not enough: stores through a mapping need not change it, and an
  // agent may truncate the file before the ring is parked and rebuild the header afterwards. The header alone is not
  // enough either: an idle agent may restart and leave an equal header.
  bool hasChanged();

 private:
  bool isSameFile(uint64_t size, const FileChange& change);

  std::string path_;
  FileId file_;
  HeaderFields header_;
  HeaderMapping mapping_;           // empty if the header may not or cannot be mapped
  std::optional<HeaderLook> look_;  // at mapping_
};

}  // namespace nixl_otel
