# Pages are written as HTML, CSS and JavaScript, and compiled in as text.
# tarn_page(FOLDER NAME SCRIPT...) makes <folder>_assets.h of the folder's page.html, page.css and scripts:
# kNAMEFrame, kNAMEStyle and kNAMEScript. Scripts come in the order in which they use each other, those of
# other folders by their whole path.
set(tarn_page_words ${PROJECT_SOURCE_DIR}/tools/observer/text/page_words)
function(tarn_page folder page_name)
  set(page_dir ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
  file(READ ${page_dir}/page.html page_frame)
  file(READ ${page_dir}/page.css page_style)
  set(page_script "")
  foreach(script ${ARGN})
    get_filename_component(script ${script}.js ABSOLUTE BASE_DIR ${page_dir})
    file(READ ${script} text)
    string(APPEND page_script "${text}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${script})
  endforeach()
  get_filename_component(file_name ${folder} NAME)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/page_assets.h.in
                 ${CMAKE_CURRENT_BINARY_DIR}/${file_name}_assets.h @ONLY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page_dir}/page.html ${page_dir}/page.css)
endfunction()
