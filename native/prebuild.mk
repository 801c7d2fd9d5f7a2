# The binaries that the package carries, for machines without a compiler: `npm run prebuild` runs this.
#
#   make -f prebuild.mk SYSROOTS=/dir     every platform; a platform alone: make -f prebuild.mk ... linux-x64-musl
#
# Each architecture is compiled once and linked twice. libstdc++ and libgcc are static and hidden, so only libc is needed
# at run time. For glibc, glibc 2.17 (under SYSROOTS) is linked, so no symbol has a newer version. For musl, no C library is
# linked: the process that loads the addon has one already, and so has a program with its loader (musl_program.cc).
# portable_libc.cc supplies the few symbols that Debian's libstdc++.a needs and older or other C libraries lack.
include Makefile

triple_x64   := x86_64-linux-gnu
triple_arm64 := aarch64-linux-gnu
sysroot_x64   = $(SYSROOTS)/x86_64-unknown-linux-gnu/sysroot
sysroot_arm64 = $(SYSROOTS)/aarch64-unknown-linux-gnu/sysroot
loader_x64   := ld-linux-x86-64.so.2
loader_arm64 := ld-linux-aarch64.so.1
musl_x64     := libc.musl-x86_64.so.1
musl_arm64   := libc.musl-aarch64.so.1

prebuilds := ../prebuilds
platforms := linux-x64-glibc linux-x64-musl linux-arm64-glibc linux-arm64-musl
# The rules below are for the package, not for a plain `make`.
.DEFAULT_GOAL := all-platforms
.PHONY: all-platforms $(platforms)
all-platforms: $(platforms)

# $(1): x64 or arm64. The flavour also defines tests-$(1): the native tests of that architecture.
define architecture
$(1)_dir := build/prebuild/$(1)
$(1)_flags := -g0 -ffunction-sections -fdata-sections
$$(eval $$(call flavour,$(1)))
build/prebuild/$(1)/%: CXX := $$(triple_$(1))-g++
build/prebuild/$(1)/obj/addon-%.o: cppflags += $$(addon_cppflags)
$(prebuilds)/linux-$(1)-%: CXX := $$(triple_$(1))-g++

$(1)_addon_objects := $$(core_units:%=build/prebuild/$(1)/obj/%.o) $$(addon_units:%=build/prebuild/$(1)/obj/%.o) \
                      build/prebuild/$(1)/obj/prebuild/portable_libc.o
$(1)_source_objects := $$(source_units:%=build/prebuild/$(1)/obj/%.o) build/prebuild/$(1)/obj/prebuild/portable_libc.o

$(prebuilds)/linux-$(1)-glibc/nixl_otel.node: $$($(1)_addon_objects)
	$$(call link,$(1),$$(addon_ldflags),$$(call glibc,$(1)))
$(prebuilds)/linux-$(1)-glibc/transfer-source: $$($(1)_source_objects)
	$$(call link,$(1),-pie $$(sysroot_$(1))/usr/lib64/Scrt1.o,$$(call glibc,$(1)))
$(prebuilds)/linux-$(1)-musl/nixl_otel.node: $$($(1)_addon_objects)
	$$(call link,$(1),$$(addon_ldflags),)
$(prebuilds)/linux-$(1)-musl/transfer-source: $$($(1)_source_objects) build/prebuild/$(1)/obj/prebuild/musl_program.o \
                                              build/prebuild/$(1)/libc.so
	$$(call link,$(1),-shared -Wl$$(comma)-e$$(comma)_start$$(comma)--no-as-needed $$(sysroot_$(1))/usr/lib64/Scrt1.o,)
# An empty library with the name of musl's, whose loader resolves that name.
build/prebuild/$(1)/libc.so:
	@$(triple_$(1))-g++ -nostdlib -shared -Wl,-soname,$(musl_$(1)) -x c /dev/null -o $$@

linux-$(1)-glibc: $(prebuilds)/linux-$(1)-glibc/nixl_otel.node $(prebuilds)/linux-$(1)-glibc/transfer-source
linux-$(1)-musl: $(prebuilds)/linux-$(1)-musl/nixl_otel.node $(prebuilds)/linux-$(1)-musl/transfer-source
endef

# $(1): architecture; $(2): what to make; $(3): the C library.
define link
@mkdir -p $(@D)
@echo "  LINK $@"
@$(CXX) -nostdlib $(2) -Wl,--gc-sections,--exclude-libs,ALL,-s -o $@ \
  $(sysroot_$(1))/usr/lib64/crti.o $(call of,crtbeginS.o) $^ \
  -Wl,--start-group $(call of,libstdc++.a) $(call of,libgcc.a) $(call of,libgcc_eh.a) $(3) -Wl,--end-group \
  $(call of,crtendS.o) $(sysroot_$(1))/usr/lib64/crtn.o
endef
comma := ,
of = $(shell $(CXX) -print-file-name=$(1))

# Named file by file: the sysroot's libc.so is a script with absolute paths.
glibc = $(addprefix $(sysroot_$(1))/lib64/,libc.so.6 libpthread.so.0 libdl.so.2 libm.so.6 $(loader_$(1))) \
        $(sysroot_$(1))/usr/lib64/libc_nonshared.a

$(foreach name,x64 arm64,$(eval $(call architecture,$(name))))
